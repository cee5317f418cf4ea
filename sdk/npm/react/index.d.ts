import type { ButtonHTMLAttributes, HTMLAttributes, ReactElement, ReactNode } from "react";
import type { Entry, Levels, Run } from "antiphon";
import type { CallActions, CallOptions, CallState, Microphone, MicrophoneActions, ToolFunction, ToolSchema } from "antiphon/store";

export type { CallActions, CallOptions, CallState, Microphone, MicrophoneActions, ToolFunction, ToolSchema };

export interface AntiphonProviderProps {
  /** The address of the server. Left out: the page's own origin. */
  server?: string;
  /** The options of each call, such as instructions or key. */
  options?: CallOptions;
  /** Mutes the microphone. With it the application keeps the state: onMutedChange tells what the user wants. */
  muted?: boolean;
  onMutedChange?: (muted: boolean) => void;
  children?: ReactNode;
}

/** Holds one call at a time. The call ends with it. */
export function AntiphonProvider(props: AntiphonProviderProps): ReactElement;

/** What a page does with the call. The object never changes. */
export function useCall(): CallActions;
export function useCallState(): CallState;
export function useTranscript(): readonly Entry[];
export function useMicrophone(): Microphone & MicrophoneActions;
/** Returns a function that reads the present levels: they change 20 times a second and render nothing. */
export function useLevels(): () => Levels;
export function useRuns(): readonly Run[];
/** Offers a function to the agent while the component is there: a call has the functions that there are when it begins. The newest run counts. */
export function useTool<Arguments = any>(name: string, schema: ToolSchema | undefined, run: ToolFunction<Arguments>): void;

export function TalkButton(props: ButtonHTMLAttributes<HTMLButtonElement> & { start?: CallOptions }): ReactElement;
/** The conversation as a list. Words that are not heard yet are in span[data-coming]. */
export function Transcript(props: HTMLAttributes<HTMLOListElement> & { names?: Partial<Record<Entry["role"], string>> }): ReactElement;
export function LevelBar(props: HTMLAttributes<HTMLDivElement> & { of?: "microphone" | "agent" }): ReactElement;

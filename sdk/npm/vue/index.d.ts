import type { DefineComponent, MaybeRefOrGetter, ShallowRef } from "vue";
import type { Entry, Levels, Run } from "antiphon";
import type { CallActions, CallOptions, CallState, Microphone, MicrophoneActions, ToolFunction, ToolSchema } from "antiphon/store";

export type { CallActions, CallOptions, CallState, Microphone, MicrophoneActions, ToolFunction, ToolSchema };

/** Holds one call at a time. The call ends with it. With v-model:muted the application keeps whether the microphone is muted. */
export const AntiphonProvider: DefineComponent<{ server?: string; options?: CallOptions; muted?: boolean; "onUpdate:muted"?: (muted: boolean) => void }>;

/** What a page does with the call. */
export function useCall(): CallActions;
export function useCallState(): Readonly<ShallowRef<CallState>>;
export function useTranscript(): Readonly<ShallowRef<readonly Entry[]>>;
export function useMicrophone(): MicrophoneActions & { microphone: Readonly<ShallowRef<Microphone>> };
/** Returns a function that reads the present levels: they change 20 times a second. */
export function useLevels(): () => Levels;
export function useRuns(): Readonly<ShallowRef<readonly Run[]>>;
/** Offers a function to the agent while the component is there: a call has the functions that there are when it begins. */
export function useTool<Arguments = any>(name: MaybeRefOrGetter<string>, schema: MaybeRefOrGetter<ToolSchema | undefined>, run: ToolFunction<Arguments>): void;

export const TalkButton: DefineComponent<{ start?: CallOptions }>;
/** The conversation as a list. Words that are not heard yet are in span[data-coming]. */
export const Transcript: DefineComponent<{ names?: Partial<Record<Entry["role"], string>> }>;
export const LevelBar: DefineComponent<{ of?: "microphone" | "agent" }>;

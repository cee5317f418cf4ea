// The element <antiphon-talk> in JSX of React 19: import type {} from "antiphon/react".
import type { ClassAttributes, HTMLAttributes } from "react";
import type { AntiphonTalkElement } from "antiphon";

/** The attributes of the element: README.md describes them. */
export interface AntiphonTalkAttributes extends HTMLAttributes<AntiphonTalkElement>, ClassAttributes<AntiphonTalkElement> {
  server?: string;
  "client-secret"?: string; // the attribute key has another meaning in React
  model?: string;
  voice?: string;
  instructions?: string;
  language?: string;
  mode?: "open" | "push";
  prediction?: "on" | "off";
  "duck-by"?: number | string;
  transport?: "webrtc" | "websocket";
  microphone?: string;
  speaker?: string;
  volume?: number | string;
  muted?: boolean;
  disabled?: boolean;
  assets?: string;
  label?: string;
  "user-name"?: string;
  "agent-name"?: string;
  "tool-name"?: string;
}

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "antiphon-talk": AntiphonTalkAttributes;
    }
  }
}

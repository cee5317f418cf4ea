// The entry of antiphon-host.js, for pages with a Go program of their own that uses package sdk/browser: defines the object that the
// package needs. A page loads it before the program starts.

import * as begin from "./begin.js";
import { host } from "./host.js";

globalThis.antiphonHost = { ...host, ...begin };

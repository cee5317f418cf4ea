// For pages with a Go program of their own that uses package sdk/browser: puts there what that asks of the page. To be loaded
// before the program starts.

import * as begin from "./begin.js";
import { host } from "./host.js";

globalThis.antiphonHost = { ...host, ...begin };

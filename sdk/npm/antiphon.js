// The entry of the page's script: exports connect, preload and the rest, and defines <antiphon-talk>. See README.md and antiphon.d.ts.

import { bundled } from "./bundled.js";
import { Call } from "./call.js";
import { defineTalk } from "./element.js";
import { AntiphonError } from "./errors.js";
import { folder, program, usage } from "./program.js";

// The build replaces all three: HERE is the address that this file was loaded from, VERSION makes the address of its program unique, and MODULE says that this is
// antiphon.mjs, which may be a part of a page's bundle.
/* global HERE, MODULE, VERSION */
const version = VERSION;
const here = HERE.replace(/[?#].*/, "");
const own = MODULE && !/^https?:.*\/antiphon\.mjs$/.test(here) ? bundled : folder(here.replace(/[^/]*$/, ""), version);

// files are the script's other files: those of the named folder, or else those that belong to this file.
const files = (named) => (named ? folder(new URL(named.replace(/\/?$/, "/"), document.baseURI).href, version) : own);

// connect begins a call and returns it at once. The call's promise ready says when it is connected.
const connect = (options = {}) => new Call(options, files(options.assets));

// preload loads the program before the first call.
const preload = async (options = {}) => void (await program(files(options.assets)));

defineTalk({ connect, preload }, (assets) => files(assets).script("antiphon-talk.js"));

export { AntiphonError, Call, connect, preload, usage, version };

// The entry of the page's script: exports connect, preload and the rest, and defines <antiphon-talk>. See README.md and antiphon.d.ts.

import { Call } from "./call.js";
import { defineTalk } from "./element.js";
import { AntiphonError } from "./errors.js";
import { program, support, usage } from "./program.js";

// The build replaces both: HERE is the address that this file was loaded from, and VERSION makes the address of its program unique.
/* global HERE, VERSION */
const version = VERSION;
const assets = new URL(".", HERE).href;

const folder = (named) => (named ? new URL(named.replace(/\/?$/, "/"), document.baseURI).href : assets);

// connect begins a call and returns it at once. The call's promise ready says when it is connected.
const connect = (options = {}) => new Call(options, { assets: folder(options.assets), version });

// preload loads the program before the first call.
const preload = async (options = {}) => void (await program(folder(options.assets), version));

defineTalk({ connect, preload }, () => support(`${assets}antiphon-talk.js?v=${version}`));

export { AntiphonError, Call, connect, preload, usage, version };

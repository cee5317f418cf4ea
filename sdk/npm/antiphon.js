// The page's side of Antiphon: see README.md and antiphon.d.ts.

import { Call } from "./call.js";
import { defineTalk } from "./element.js";
import { AntiphonError } from "./errors.js";
import { program, support, usage } from "./program.js";

// Both are put here by the build: the folder that this file was loaded from, and what its program's name is made unique with.
/* global HERE, VERSION */
const version = VERSION;
const assets = new URL(".", HERE).href;

const folder = (named) => (named ? new URL(named.replace(/\/?$/, "/"), document.baseURI).href : assets);

// connect begins a call. It does not wait: see ready.
const connect = (options = {}) => new Call(options, { assets: folder(options.assets), version });

// preload has the program there before the first call.
const preload = async (options = {}) => void (await program(folder(options.assets), version));

defineTalk({ connect, preload }, () => support(`${assets}antiphon-talk.js?v=${version}`));

export { AntiphonError, Call, connect, preload, usage, version };

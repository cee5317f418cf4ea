// The page's side of Antiphon: see README.md and antiphon.d.ts.

import { Call } from "./call.js";
import { defineTalk } from "./element.js";
import { AntiphonError } from "./errors.js";
import { support, usage } from "./program.js";

// Both are put here by the build: the folder that this file was loaded from, and what its program's name is made unique with.
/* global HERE, VERSION */
const version = VERSION;
const assets = new URL(".", HERE).href;

// connect begins a call. It does not wait: see ready.
const connect = (options = {}) => {
  const folder = options.assets ? new URL(options.assets.replace(/\/?$/, "/"), document.baseURI).href : assets;
  return new Call(options, { assets: folder, version });
};

defineTalk(connect, () => support(`${assets}antiphon-talk.js?v=${version}`));

export { AntiphonError, Call, connect, usage, version };

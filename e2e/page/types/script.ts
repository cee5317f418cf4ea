// How a page with a script tag uses them: through the one global name.

/// <reference path="../../../sdk/npm/antiphon.d.ts" />

const call: Antiphon.Call = Antiphon.connect({ url: "http://localhost:8080" });
call.addEventListener("interrupting", () => console.log(call.interrupting));
console.log(Antiphon.usage().functions);

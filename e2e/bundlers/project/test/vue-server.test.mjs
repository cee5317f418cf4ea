// @antiphon/vue on a server, where there is no document.
import { AntiphonProvider, LevelBar, TalkButton, Transcript } from "@antiphon/vue";
import assert from "node:assert/strict";
import test from "node:test";
import { createSSRApp, h } from "vue";
import { renderToString } from "vue/server-renderer";

test("the markup of a server", async () => {
  const app = createSSRApp(() => h(AntiphonProvider, null, () => [h(TalkButton), h(Transcript), h(LevelBar)]));
  assert.match(await renderToString(app), /data-state="disconnected" aria-pressed="false">Talk<\/button>/);
});

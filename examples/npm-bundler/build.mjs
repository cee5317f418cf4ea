// Bundles the page. What the package loads at run time goes beside the bundle.
import { build } from "esbuild";
import { copyFile, mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";

await build({ entryPoints: ["src/main.js"], bundle: true, minify: true, format: "esm", outfile: "www/main.js" });
await mkdir("www", { recursive: true });
for (const name of ["antiphon.wasm", "antiphon-exec.js", "antiphon-worklet.js", "antiphon-talk.js"]) {
  await copyFile(fileURLToPath(import.meta.resolve(`antiphon/${name}`)), `www/${name}`);
}

// Bundles the page. Nothing else is needed.
import { build } from "esbuild";

await build({ entryPoints: ["src/main.js"], bundle: true, minify: true, format: "esm", outfile: "www/main.js" });

// @ts-check
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// `dev` preloads this into a server that is not wanted yet: the packages are loaded, and the project's own files only at
// the word to start. Plain JavaScript: Node refuses to strip types below node_modules.

// What the server starts inherits the preload, and waits for nothing.
if (process.env['GENERATOR_DEV_WAITS']) {
  delete process.env['GENERATOR_DEV_WAITS'];
  const leave = () => process.exit(0);
  const wanted = new Promise((start) => void process.once('message', start));
  // `dev` is gone, however it ended.
  process.once('disconnect', leave);
  await loadPackages();
  await wanted;
  process.off('disconnect', leave).disconnect();
}

async function loadPackages() {
  try {
    const runtime = createRequire(join(process.cwd(), 'package.json')).resolve('@twofold/runtime');
    await import(pathToFileURL(runtime).href);
  } catch {
    // The server itself says what is missing.
  }
}

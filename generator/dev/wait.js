// @ts-check
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// `dev` preloads this into a server that is not wanted yet: the packages are loaded, and the project's own files only at
// the word to start. Plain JavaScript: Node refuses to strip types below node_modules.

/** As in `dev-server.ts`, in milliseconds. */
const PATIENCE = 2_000;

// What the server starts inherits the preload, and waits for nothing.
if (process.env['GENERATOR_DEV_WAITS']) {
  delete process.env['GENERATOR_DEV_WAITS'];
  const leave = () => process.exit(0);
  const wanted = new Promise((start) => void process.once('message', start));
  // `dev` is gone, however it ended.
  process.once('disconnect', leave);
  await loadPackages();
  await wanted;
  process.off('disconnect', leave);
  // A server ends as it does when it is told to, and at the latest when it would have been killed.
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), PATIENCE).unref();
    process.kill(process.pid, 'SIGTERM');
  });
  process.channel?.unref();
}

async function loadPackages() {
  try {
    const runtime = createRequire(join(process.cwd(), 'package.json')).resolve('@twofold/runtime');
    await import(pathToFileURL(runtime).href);
  } catch {
    // The server itself says what is missing.
  }
}

// @ts-check
import * as module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// `dev` preloads this module into a server that is not needed yet: it loads the packages at once,
// and the project's own files only when `dev` sends `start`. It is plain JavaScript because Node
// does not strip types below node_modules.

// What has not changed since the last save is neither stripped of its types nor compiled again.
module.enableCompileCache?.();

/** As in `dev-server.ts`, in milliseconds. */
const SHUTDOWN_TIMEOUT = 2_000;

// A worker of the server sends its reports to the server, which passes them on.
globalThis[Symbol.for('twofold.report')] = (report) =>
  process.send?.({ twofold: 'report', report }, () => {});

// Processes that the server starts inherit the preload and must not wait.
if (process.env['GENERATOR_DEV_WAITS']) {
  delete process.env['GENERATOR_DEV_WAITS'];
  const leave = () => process.exit(0);
  const packages = loadPackage('@twofold/runtime');
  const wanted = waitForStart();
  // The channel also closes when `dev` was killed.
  process.once('disconnect', leave);
  const runtime = await packages;
  await wanted;
  reportLoadFailures();
  process.off('disconnect', leave);
  // The server shuts down as on SIGTERM, and is killed after the time that `dev` would have given
  // it.
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), SHUTDOWN_TIMEOUT).unref();
    process.kill(process.pid, 'SIGTERM');
  });
  await takeOver(runtime);
  process.channel?.unref();
}

/** Resolves when `dev` sends `start`. Until then the project's packages answer questions of `dev`. */
function waitForStart() {
  return new Promise((start) => {
    const listen = (message) => {
      if (message !== 'start') return void answer(message);
      process.off('message', listen);
      start(undefined);
    };
    process.on('message', listen);
  });
}

async function answer({ id, question, input }) {
  const ask = (await loadPackage('@twofold/database'))?.[question];
  const known = ask ? await ask(input).catch(() => null) : null;
  process.send?.({ id, answer: known });
}

/**
 * The old server runs until the new one is about to listen, so that a failed start is reported
 * before the old one stops. A server without our runtime starts as soon as the old one has ended.
 */
async function takeOver(runtime) {
  let over;
  const ready = () =>
    (over ??= new Promise((go) => {
      // Only the channel may keep the process alive while it waits.
      process.channel?.ref();
      process.once('message', () => {
        process.channel?.unref();
        go(undefined);
      });
      process.send?.('ready');
    }));
  if (!runtime?.createServer) return ready();
  globalThis[Symbol.for('twofold.handover')] = ready;
  // A server that does not listen through our runtime may find its port in use.
  process.on('uncaughtExceptionMonitor', (error) => {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EADDRINUSE') process.send?.('busy');
  });
}

/**
 * Sends the error of a file that Node cannot load to `dev`, which shows the place and the next step
 * instead of Node's trace. Errors that the project's own code throws end the server as usual.
 */
function reportLoadFailures() {
  process.on('uncaughtExceptionMonitor', (error) => {
    const { code, message, stack } = /** @type {NodeJS.ErrnoException} */ (error);
    if (!isLoadFailure(code, message) || !process.connected) return;
    process.once('uncaughtException', () =>
      process.send?.({ failed: { code, message, stack } }, () => process.exit(1)),
    );
  });
}

function isLoadFailure(code, message) {
  return (
    /^ERR_(INVALID|UNSUPPORTED)_TYPESCRIPT_SYNTAX$|^ERR_MODULE_NOT_FOUND$/.test(code ?? '') ||
    /does not provide an export named/.test(message)
  );
}

async function loadPackage(name) {
  try {
    const found = module.createRequire(join(process.cwd(), 'package.json')).resolve(name);
    return await import(pathToFileURL(found).href);
  } catch {
    // The server itself reports the missing packages.
    return null;
  }
}

#!/usr/bin/env node
// @ts-check
import { existsSync } from 'node:fs';
import * as module from 'node:module';
import { setFlagsFromString } from 'node:v8';

// Plain JavaScript, so that an old Node can still print the message that says which version is
// needed.

const [major = 0] = process.versions.node.split('.').map(Number);

if (major < 24) {
  process.stderr.write(
    `generator needs Node 24 or newer; this is ${process.version}.\n` +
      'In a project, "npm install --save-dev node@24" brings one along: npx and npm scripts use it from then on.\n',
  );
  process.exitCode = 2;
} else {
  // Caches compiled code in the temporary folder: half of a short run is loading modules.
  module.enableCompileCache?.();
  // A run of one second ends before the optimising compiler pays off: without it the run takes a
  // fifth less CPU time.
  if (!process.argv.some((word) => word === 'dev' || word === '--watch'))
    setFlagsFromString('--no-opt');
  // Node warns once that it strips types by an experimental function, which no user can act on.
  const [warn] = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') warn?.(warning);
  });
  // In the repo it is TypeScript, installed it is JavaScript: Node refuses to strip types below
  // node_modules.
  const inRepo = existsSync(new URL('./cli.ts', import.meta.url));
  const { main } = await import(inRepo ? './cli.ts' : './cli.js');
  process.exitCode = await main(process.argv.slice(2));
}

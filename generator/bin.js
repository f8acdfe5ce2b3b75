#!/usr/bin/env node
// @ts-check
import { existsSync } from 'node:fs';
import * as module from 'node:module';
import { setFlagsFromString } from 'node:v8';

// Plain JavaScript: an old Node has to get as far as the sentence that says what to do.

const [major = 0] = process.versions.node.split('.').map(Number);

if (major < 24) {
  process.stderr.write(
    `generator needs Node 24 or newer; this is ${process.version}.\n` +
      'In a project, "npm install --save-dev node@24" brings one along: npx and npm scripts use it from then on.\n',
  );
  process.exitCode = 2;
} else {
  // What was compiled once is read from a cache in the temporary folder the next time: half of a short run is loading.
  module.enableCompileCache?.();
  // A run of a second ends before the optimising compiler has paid for itself: without it a fifth of the CPU time is saved.
  if (!process.argv.some((word) => word === 'dev' || word === '--watch'))
    setFlagsFromString('--no-opt');
  // In the repo it is TypeScript, installed it is JavaScript: Node refuses to strip types below node_modules.
  const inRepo = existsSync(new URL('./cli.ts', import.meta.url));
  const { main } = await import(inRepo ? './cli.ts' : './cli.js');
  process.exitCode = await main(process.argv.slice(2));
}

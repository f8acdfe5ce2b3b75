#!/usr/bin/env node
// @ts-check
// `npm create twofold shop -- --template blog` is `generator init shop --template blog`. The
// generator's own program checks the version of Node.
process.argv.splice(2, 0, 'init');
await import(new URL('./bin.js', import.meta.resolve('@twofold/generator')).href);

// node .ci/failed-files.ts <results of vitest as JSON>…
// Prints the files in which a test failed, a line each.
import { relative } from 'node:path';
import { failed, readAll } from './results.ts';

for (const file of readAll(process.argv.slice(2)) ?? [])
  if (failed(file)) console.log(relative(process.cwd(), file.name));

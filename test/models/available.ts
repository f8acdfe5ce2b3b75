import { join } from 'node:path';
import { describe } from 'vitest';
import { createLlamaEngine } from '../../runtime/models/engine/llamacpp.ts';
import { createLog } from '../../runtime/core/config/log.ts';

const reason = await createLlamaEngine({
  env: {},
  log: createLog({ level: 'silent' }, { write: () => {} }),
  patience: 0,
  root: join(import.meta.dirname, '..'),
  context: 0,
  parallel: 1,
}).eligible();

/** A suite that runs a model. Where llama.cpp has no binary it is skipped, with the line that says how to get one; in CI it runs. */
export function describeLlama(name: string, body: () => void): void {
  if (reason === null || process.env['CI']) describe(name, body);
  else describe.skip(`${name} (${reason})`, body);
}

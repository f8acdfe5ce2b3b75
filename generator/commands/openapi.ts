import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { askProject } from '../run-project.ts';
import { disk } from '../write/disk.ts';

/**
 * `generator openapi [--out FILE]`: writes the same bytes that the server sends for
 * `/api/openapi.json`.
 */
export async function run({ cwd, options, terminal }: CommandCall): Promise<ExitCode> {
  const root = resolve(cwd);
  const text = await askProject<string>(root, 'openapiOfApp');
  const file = options['out'];
  if (typeof file === 'string') {
    await disk.write(resolve(root, file), text);
    if (terminal.json) terminal.document({ ok: true, file });
    else terminal.note(`${terminal.paint.green('written')}  ${file}`);
  } else if (terminal.json) terminal.document({ ok: true, document: JSON.parse(text) });
  else terminal.data(text);
  return EXIT.done;
}

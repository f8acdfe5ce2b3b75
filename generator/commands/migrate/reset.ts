import { EXIT, type ExitCode } from '../../failure.ts';
import { askDatabase } from '../../run-project.ts';
import type { MigrateCall } from './call.ts';

/** `generator migrate reset [--seed]`: takes everything down, applies all, seeds. */
export async function run(call: MigrateCall): Promise<ExitCode> {
  const { root, options, terminal } = call;
  const { applied, rescued } = await askDatabase(root, 'reset', {
    input: { confirm: options['confirm'] },
  });
  if (terminal.json && !options['seed']) terminal.document({ ok: true, applied, rescued });
  for (const file of rescued) terminal.note(`  rescued  ${file} has the rows of before`);
  for (const each of applied) terminal.note(`  applied  ${each}`);
  if (!options['seed']) return EXIT.done;
  return (await import('../seed.ts')).run({ ...call, positionals: [] });
}

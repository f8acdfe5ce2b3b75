import { EXIT, type ExitCode } from '../../failure.ts';
import { askDatabase } from '../../run-project.ts';
import type { MigrateCall } from './call.ts';

/** `generator migrate down [NAME]`: undoes the newest migration, or all down to NAME. */
export async function run({ root, name, options, terminal }: MigrateCall): Promise<ExitCode> {
  const { reverted, rescued } = await askDatabase(root, 'revert', {
    input: { to: name?.replace(/^.*\/|\.ts$/g, ''), confirm: options['confirm'] },
  });
  if (terminal.json) terminal.document({ ok: true, reverted, rescued });
  else {
    for (const each of reverted) terminal.note(`  reverted  ${each}`);
    for (const file of rescued)
      terminal.note(`  rescued   ${file} has the values that this dropped`);
    if (reverted.length === 0) terminal.note('Nothing is applied.');
  }
  return EXIT.done;
}

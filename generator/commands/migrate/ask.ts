import type { Drift } from '@twofold/database';
import { EXIT, type ExitCode } from '../../failure.ts';
import { askDatabase } from '../../run-project.ts';
import type { MigrateCall } from './call.ts';

// Steps that ask the database of the project, and print what it answers.

/** `generator migrate sql`: all that is pending as SQL, for somebody else to run. */
export async function sql({ root, terminal }: MigrateCall): Promise<ExitCode> {
  const text = await askDatabase(root, 'sql');
  if (terminal.json) terminal.document({ ok: true, sql: text });
  else if (text === '') terminal.note('The database is up to date.');
  else terminal.data(text);
  return EXIT.done;
}

/** `generator migrate down [NAME]`: undoes the newest migration, or all down to NAME. */
export async function down({ root, name, options, terminal }: MigrateCall): Promise<ExitCode> {
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

/** `generator migrate reset [--seed]`: takes everything down, applies all, seeds. */
export async function reset(call: MigrateCall): Promise<ExitCode> {
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

/**
 * `generator migrate baseline`: records what is pending as applied, if the database is what it would
 * make.
 */
export async function baseline({ root, terminal }: MigrateCall): Promise<ExitCode> {
  const { recorded, drift } = await askDatabase(root, 'baseline');
  const equal = drift.length === 0;
  if (terminal.json) terminal.document({ ok: equal, recorded, drift });
  else if (equal)
    terminal.note(
      recorded.length === 0
        ? 'Nothing is pending.'
        : recorded.map((name) => `  recorded  ${name}`).join('\n'),
    );
  else {
    terminal.data(formatDrift(drift));
    terminal.say('The database is not what the migrations would make; nothing was recorded.');
  }
  return equal ? EXIT.done : EXIT.differs;
}

/** Two lines for each: what differs, and how to mend it. */
export function formatDrift(drift: readonly Drift[]): string {
  return drift
    .map(({ object, kind, expected, found, fix }) => {
      const both = kind === 'different' ? `: ${expected} expected, ${found} found` : '';
      const one = kind === 'different' ? '' : ` (${expected ?? found})`;
      return `${kind.padEnd(9)}  ${object}${both}${one}\n   fix  ${fix}\n`;
    })
    .join('');
}

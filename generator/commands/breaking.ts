import { resolve } from 'node:path';
import { type Against, findAgainst } from '../breaking/base/against.ts';
import { checkOut } from '../breaking/base/checkout.ts';
import { type Change, type Level, summaryOf } from '../breaking/change.ts';
import { compareSchemas, compareSides } from '../breaking/compare.ts';
import { formatChanges, formatMarkdown, saidOf } from '../breaking/report.ts';
import { readSdl, readSide } from '../breaking/side.ts';
import type { CommandCall } from '../cli/command.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';

/** `generator breaking`: what a change means for callers, rows and code. It writes nothing. */
export async function run({ cwd, options, terminal }: CommandCall): Promise<ExitCode> {
  const root = resolve(cwd);
  const against = await findAgainst(root, options['against'] as string | undefined);
  const today = dayOf(options['today'] as string | undefined);
  const changes = await changesSince(root, against, today);
  const worst: readonly Level[] =
    options['fail-on'] === 'dangerous' ? ['breaking', 'dangerous'] : ['breaking'];
  const ok = !changes.some(({ level }) => worst.includes(level));
  const compared = { ok, against, changes };
  if (terminal.json)
    terminal.document({ ok, against: saidOf(against), summary: summaryOf(changes), changes });
  else if (options['markdown']) terminal.data(formatMarkdown(compared));
  else terminal.data(formatChanges(compared, terminal.paint));
  return ok ? EXIT.done : EXIT.differs;
}

async function changesSince(root: string, against: Against, today: string): Promise<Change[]> {
  const head = await readSide(root, 'this folder');
  if (against.kind === 'file')
    return compareSchemas(readSdl(against.path, against.file), head, today);
  const checkout = await checkOut(root, against.commit);
  try {
    return compareSides(await readSide(checkout.root, against.ref), head, today);
  } finally {
    checkout.remove();
  }
}

/** The day of the comparison, for the days that deprecations name. */
function dayOf(given: string | undefined): string {
  const day = given ?? new Date().toISOString().slice(0, 10);
  if (/^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(day))) return day;
  throw new CommandError(EXIT.usage, 'DATE_INVALID', `${day} is no day`, '--today 2027-03-01');
}

import { resolve } from 'node:path';
import { type Against, findAgainst } from '../breaking/base/against.ts';
import { checkOut } from '../breaking/base/checkout.ts';
import { type Change, type Level, summaryOf } from '../breaking/change.ts';
import { compareSchemas, compareSides, inOrder } from '../breaking/compare.ts';
import { formatChanges, formatMarkdown, saidOf } from '../breaking/report.ts';
import { readSdl, readSide } from '../breaking/side.ts';
import type { CommandCall } from '../cli/command.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';

/** `generator breaking`: what a change means for callers, rows and code. It writes nothing. */
export async function run({ cwd, options, terminal }: CommandCall): Promise<ExitCode> {
  const root = resolve(cwd);
  const against = await findAgainst(root, options['against'] as string | undefined);
  const today = dayOf(options['today'] as string | undefined);
  const code = options['no-code'] !== true;
  const { changes, skipped } = await changesSince(root, against, { today, code });
  const worst: readonly Level[] =
    options['fail-on'] === 'dangerous' ? ['breaking', 'dangerous'] : ['breaking'];
  const ok = !changes.some(({ level }) => worst.includes(level));
  const compared = { ok, against, changes };
  if (terminal.json)
    terminal.document({
      ok,
      against: saidOf(against),
      summary: summaryOf(changes),
      changes,
      ...(skipped && { skipped: { code: skipped } }),
    });
  else if (options['markdown']) terminal.data(formatMarkdown(compared));
  else terminal.data(formatChanges(compared, terminal.paint));
  if (skipped) terminal.note(`The code was not compared: ${skipped}`);
  return ok ? EXIT.done : EXIT.differs;
}

interface Found {
  readonly changes: readonly Change[];
  readonly skipped?: string;
}

async function changesSince(
  root: string,
  against: Against,
  { today, code }: { readonly today: string; readonly code: boolean },
): Promise<Found> {
  const { createKnown } = await import('@twofold/schema');
  const known = createKnown();
  const head = await readSide(root, 'this folder', known);
  if (against.kind === 'file')
    return { changes: compareSchemas(readSdl(against.path, against.file), head, today) };
  const list = head.project.api.trustedDocuments?.file;
  const checkout = await checkOut(root, against.commit, list === undefined ? [] : [list]);
  try {
    const base = await readSide(checkout.root, against.ref, known);
    const found = compareSides(base, head, today);
    if (!code) return { changes: found };
    const { codeChanges } = await import('../breaking/code-changes.ts');
    const { changes, skipped } = await codeChanges(base, head, checkout);
    return { changes: inOrder([...found, ...changes]), ...(skipped && { skipped }) };
  } finally {
    checkout.remove();
  }
}

/** The day of the comparison, for the days that deprecations name. */
function dayOf(given: string | undefined): string {
  const day = given ?? new Date().toISOString().slice(0, 10);
  if (/^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(day))) return day;
  throw new CommandError('DATE_INVALID', {
    message: `${day} is no day`,
    fix: '--today 2027-03-01',
  });
}

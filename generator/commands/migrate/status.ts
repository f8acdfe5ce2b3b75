import { EXIT, type ExitCode } from '../../failure.ts';
import { missingSteps } from '../../migrations/missing-steps.ts';
import { type Answer, askDatabase } from '../../run-project.ts';
import type { MigrateCall } from './call.ts';
import { formatDrift } from './ask.ts';

type Status = Answer<'status'>;

/** The explanations of words in the output that are not clear by themselves. */
const EXPLAINED: readonly (readonly [kind: keyof Status | 'incomplete', text: string])[] = [
  ['draft', 'draft: written again by every save; "npm run migrate -- save" keeps it'],
  ['missing', 'missing: applied in this database, and no file of that name in migrations/'],
  ['changed', 'changed: its file has another text than was applied'],
  ['partial', 'partial: stopped before its last step; "npm run migrate" goes on from there'],
  ['oneWay', 'one-way: it cannot be undone'],
  ['incomplete', 'no step: the schema has it, and no migration makes it: run "npm run generate"'],
];

/**
 * `generator migrate status`: only lists, and never fails because of a finding, because users need
 * the status when something is wrong.
 */
export async function run({ root, options, terminal }: MigrateCall): Promise<ExitCode> {
  const status = await askDatabase(root, 'status');
  const incomplete = await missingSteps(root);
  const drift = options['drift'] ? await askDatabase(root, 'drift') : null;
  const code = drift && drift.length > 0 ? EXIT.differs : EXIT.done;
  if (terminal.json) {
    terminal.document({
      ok: code === EXIT.done,
      ...status,
      incomplete,
      ...(drift && { drift }),
    });
    return code;
  }
  terminal.data(linesOf({ ...status, incomplete }).join('') + formatDrift(drift ?? []));
  for (const [kind, text] of EXPLAINED)
    if ({ ...status, incomplete }[kind].length > 0) terminal.note(text);
  return code;
}

function linesOf({
  draft,
  oneWay,
  ...status
}: Status & { readonly incomplete: readonly string[] }): string[] {
  const marked = (name: string) =>
    [draft.includes(name) && ' (draft)', oneWay.includes(name) && ' (one-way)']
      .filter(Boolean)
      .join('');
  const lines = (word: string, names: readonly string[]) =>
    names.map((name) => `${word.padEnd(7)}  ${name}${marked(name)}\n`);
  return [
    ...lines('applied', status.applied),
    ...lines('pending', status.pending),
    ...lines('empty', status.empty),
    ...lines('changed', status.changed),
    ...lines('missing', status.missing),
    ...lines('partial', status.partial),
    ...lines('no step', status.incomplete),
  ];
}

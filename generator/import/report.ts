import type { Imported, ImportStatus, ReportItem } from './imported.ts';

/** The counts of a report, by status. */
export type ReportCounts = Readonly<Record<ImportStatus, number>>;

/** @example countItems(items) // { kept: 12, approximated: 1, closed: 1, notExpressible: 0 } */
export function countItems(items: readonly ReportItem[]): ReportCounts {
  const count = (status: ImportStatus) => items.filter((item) => item.status === status).length;
  return {
    kept: count('kept'),
    approximated: count('approximated'),
    closed: count('closed'),
    notExpressible: count('notExpressible'),
  };
}

const SECTIONS: readonly (readonly [ImportStatus, title: string, meaning: string])[] = [
  ['notExpressible', 'Not expressible', 'The server does not have these.'],
  ['closed', 'Closed', 'The server has these, and serves them to no client.'],
  ['approximated', 'Approximated', 'These are served, with a difference.'],
  ['kept', 'Kept', 'These are as they were.'],
];

/**
 * The text of `import-report.md`: what needs attention comes first.
 *
 * @example printReport(imported, { source: 'prisma/schema.prisma', access: 'every signed-in user' })
 */
export function printReport(
  { types, items }: Imported,
  { source, access }: { readonly source: string; readonly access?: string },
): string {
  const counts = countItems(items);
  const head = [
    access === undefined
      ? 'Who has access is what the permissions below said. What had none is closed to all but the `API_KEY` of the server.'
      : `Everything below can be read and changed by ${access}: import makes up no rules. Add \`@auth\` to a type to close it.`,
    '',
    `# What was imported from ${source}`,
    '',
    `${types.length} types. ${counts.kept} objects kept, ${counts.approximated} approximated, ${counts.closed} closed, ${counts.notExpressible} not expressible.`,
  ];
  return `${[...head, ...SECTIONS.flatMap((section) => printSection(section, items))].join('\n')}\n`;
}

function printSection(
  [status, title, meaning]: (typeof SECTIONS)[number],
  items: readonly ReportItem[],
): string[] {
  const rows = items.filter((item) => item.status === status);
  if (rows.length === 0) return [];
  return [
    '',
    `## ${title}`,
    '',
    meaning,
    '',
    '| Object | Kind | In the schema | Why |',
    '|---|---|---|---|',
    ...rows.map(
      ({ object, kind, as, why }) =>
        `| ${cell(object)} | ${kind} | ${as === undefined ? '' : cell(as)} | ${plain(why ?? '')} |`,
    ),
  ];
}

const cell = (text: string) => `\`${plain(text)}\``;
const plain = (text: string) => text.replaceAll('|', '\\|').replace(/\s+/g, ' ');

import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { type Answer, askDatabase } from '../run-project.ts';
import { readSeed, type SeedFile } from '../seed/read-seed.ts';

type SeedFinding = Answer<'seed'>['findings'][number];

/**
 * The number of findings that are shown: a wrong column in a large file is one mistake, not a
 * thousand.
 */
const MOST_FINDINGS = 20;

/** `generator seed [FILE]`: writes rows into the database, all or none. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const root = resolve(call.cwd);
  const { terminal } = call;
  const file = await readSeed(root, call.positionals[0]);
  const report = await askDatabase(root, 'seed', {
    input: file.rows,
    onProgress: (text) => terminal.note(text),
  });
  const findings = report.findings.map((finding) => placed(file, finding));
  if (terminal.json)
    terminal.document({
      ok: findings.length === 0,
      file: file.path,
      inserted: report.inserted,
      updated: report.updated,
      unchanged: report.unchanged,
      findings,
    });
  else if (findings.length > 0) for (const text of describe(findings, call)) terminal.say(text);
  else
    terminal.note(
      `${terminal.paint.green('seeded')}  ${file.path}: ${report.inserted} inserted, ` +
        `${report.updated} updated, ${report.unchanged} unchanged`,
    );
  return findings.length === 0 ? EXIT.done : EXIT.invalid;
}

interface PlacedFinding {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly row: string;
  readonly message: string;
  readonly fix?: string;
  readonly text: string;
}

function placed(file: SeedFile, { row, field, message, fix }: SeedFinding): PlacedFinding {
  const { type, key } = file.rows[row]!;
  return {
    file: file.path,
    ...file.place(row, field),
    row: key === null ? type : `${type}.${key}`,
    message,
    ...(fix !== undefined && { fix }),
  };
}

function* describe(
  findings: readonly PlacedFinding[],
  { terminal: { paint } }: CommandCall,
): Generator<string> {
  for (const { file, line, column, row, message, fix, text } of findings.slice(0, MOST_FINDINGS)) {
    const at = paint.bold(`${file}:${line}:${column}`);
    const margin = paint.dim(`${String(line).padStart(4)} │ `);
    const finding = `${at}  ${paint.red('error')}  ${row}  ${message}`;
    const quote = `  ${margin}${text.trimEnd().slice(0, 200)}`;
    const cure = fix === undefined ? '' : `\n   ${paint.dim('fix')}  ${fix}`;
    yield `${finding}\n${quote}${cure}\n`;
  }
  const more = findings.length - MOST_FINDINGS;
  const rest = more > 0 ? ` (${more} more not shown; --json has all)` : '';
  yield `${findings.length} error${findings.length === 1 ? '' : 's'}${rest}; nothing was written`;
}

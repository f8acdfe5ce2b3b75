import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { closest } from '../cli/closest.ts';
import { explainAll, type Explanation } from '../explain/facts.ts';
import { placeOf } from '../explain/place.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { readProjectOf } from '../pipeline.ts';
import { readTexts } from '../read.ts';
import { exitCodeOf, reportFindings } from './outcome.ts';

/** `generator explain [Type[.field]]` */
export async function run(call: CommandCall): Promise<ExitCode> {
  const root = resolve(call.cwd);
  const reading = await readProjectOf(root);
  if (!reading.project) return (reportFindings(reading, call), exitCodeOf({ ...reading, changes: [] }));
  const all = explainAll(reading.project);
  const texts = await readTexts(root, ['src/generated/model.ts', 'src/generated/resolvers.ts', ...reading.sources.userFiles]);
  const chosen = choose(all, call.positionals[0]).map((each) => ({ ...each, file: placeOf(each.coordinate, texts) }));
  if (call.terminal.json) call.terminal.document({ ok: true, explanations: chosen });
  else call.terminal.data(chosen.map((each) => print(each, call)).join('\n'));
  return EXIT.done;
}

/** A type with its fields, one field, or all. */
function choose(all: readonly Explanation[], name: string | undefined): readonly Explanation[] {
  if (name === undefined) return all;
  const chosen = all.filter(({ coordinate }) => coordinate === name || coordinate.startsWith(`${name}.`));
  if (chosen.length > 0) return chosen;
  const near = closest(name, [...new Set(all.flatMap(({ coordinate }) => [coordinate, coordinate.split('.')[0]!]))]);
  throw new CommandError(EXIT.usage, 'UNKNOWN_COORDINATE', `the schema has no ${name}`, near ? `did you mean ${near}?` : 'generator explain lists everything');
}

function print(explanation: Explanation & { readonly file: string | null }, { terminal }: CommandCall): string {
  const { coordinate, what, decidedBy, stored, statement, routes, file } = explanation;
  const line = (name: string, text: string | null | undefined) => (text ? `  ${terminal.paint.dim(name.padEnd(9))}  ${text}\n` : '');
  return `${terminal.paint.bold(coordinate)}  ${what}\n${line('rule', decidedBy)}${line('stored', stored)}${line('file', file)}${line('statement', statement)}${line('routes', routes?.join('\n             '))}`;
}

import { EXIT, type ExitCode } from '../../failure.ts';
import { askProject } from '../../run-project.ts';
import type { MigrateCall } from './call.ts';

export interface PlanStep {
  readonly step: number;
  readonly does: string;
  readonly object: string;
  readonly rows: number;
  readonly verdict: string;
  readonly atRisk: number;
  readonly keys: readonly string[];
  readonly values?: readonly string[];
  readonly blocks: string;
  readonly online: boolean;
  readonly compatible: boolean;
  readonly fix: string | null;
}

interface Plan {
  readonly ok: boolean;
  readonly database: {
    readonly dialect: string;
    readonly name: string;
    readonly guarded: boolean;
  };
  readonly migrations: readonly { readonly name: string; readonly steps: readonly PlanStep[] }[];
}

/** `generator migrate plan`: what each pending step would meet; nothing is changed. */
export async function run({ root, options, terminal }: MigrateCall): Promise<ExitCode> {
  const plan = await askProject<Plan>(root, 'plan', {
    input: {
      values: options['values'] === true,
      zeroDowntime: options['zero-downtime'] === true,
    },
  });
  if (terminal.json) terminal.document(plan);
  else if (plan.migrations.length === 0) terminal.note('The database is up to date.');
  else terminal.data(formatPlan(plan));
  return plan.ok ? EXIT.done : EXIT.ambiguous;
}

/** Those of the packages, as `auth/0001_accounts`, in one line when nothing stands in their way. */
function formatPlan({ migrations }: Plan): string {
  const isPlain = ({ name, steps }: Plan['migrations'][number]) =>
    name.includes('/') && steps.every(({ verdict, fix }) => verdict === 'safe' && fix === null);
  const plain = migrations.filter(isPlain);
  const own = migrations.filter((each) => !isPlain(each));
  const owners = [...new Set(plain.map(({ name }) => name.split('/')[0]))].join(', ');
  const ours = `${plain.length} migrations of the packages (${owners}): safe; --json has their steps\n`;
  return [...(plain.length > 0 ? [ours] : []), ...own.map(formatMigration)].join('\n');
}

function formatMigration({ name, steps }: Plan['migrations'][number]): string {
  return [name, ...steps.flatMap(formatStep)].map((line) => `${line}\n`).join('');
}

/** `   1  unique     authors.email  impossible: 2 of 1204 rows (keys 3, 7), blocks writes` */
export function formatStep(step: PlanStep): string[] {
  const { does, object, verdict, blocks, online, compatible, fix } = step;
  const facts = [
    `${verdict}${riskOf(step)}`,
    ...(blocks === 'nothing' ? [] : [`blocks ${blocks}`]),
    ...(online ? ['online'] : []),
    ...(compatible ? [] : ['servers of the release before fail on it']),
  ];
  const line = `${String(step.step).padStart(4)}  ${does.padEnd(9)}  ${object}  ${facts.join(', ')}`;
  return fix === null ? [line] : [line, `      fix  ${fix}`];
}

function riskOf({ atRisk, rows, keys, values }: PlanStep): string {
  if (atRisk === 0) return '';
  const named = keys.map((key, at) => (values ? `${key} = ${values[at]}` : key));
  const more = atRisk > keys.length ? ', …' : '';
  return `: ${atRisk} of ${rows} row${rows === 1 ? '' : 's'} (${keys.length === 1 ? 'key' : 'keys'} ${named.join(', ')}${more})`;
}

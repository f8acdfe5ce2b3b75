import type { PlanStep } from '@twofold/database';
import { EXIT, type ExitCode } from '../../failure.ts';
import { type Answer, askDatabase } from '../../run-project.ts';
import type { MigrateCall } from './call.ts';

type Plan = Answer<'plan'>;

/** `generator migrate plan`: what each pending step would meet; nothing is changed. */
export async function run({ root, options, terminal }: MigrateCall): Promise<ExitCode> {
  const plan = await askDatabase(root, 'plan', {
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

import type { Step } from '../../templates/steps.ts';

/** The number of `migrations/0007_add_posts_summary.ts` is 7. */
export function numberOf(path: string): number {
  return Number.parseInt(path.slice(path.lastIndexOf('/') + 1), 10);
}

/** `migrations/0002_add_posts_summary.ts`: the next number, and a name after the first step. */
export function migrationPath(existing: readonly string[], steps: readonly Step[]): string {
  const last = Math.max(0, ...existing.map((path) => numberOf(path)).filter(Number.isFinite));
  const name = last === 0 ? 'init' : describe(steps);
  return `migrations/${String(last + 1).padStart(4, '0')}_${name}.ts`;
}

function describe(steps: readonly Step[]): string {
  const [first] = steps;
  const text = first ? describeStep(first) : 'nothing';
  return `${text}${steps.length > 1 ? '_and_more' : ''}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, 60);
}

function describeStep(step: Step): string {
  switch (step.kind) {
    case 'createTable':
      return `create_${step.table.name}`;
    case 'dropTable':
      return `drop_${step.table.name}`;
    case 'renameTable':
      return `rename_${step.from}_to_${step.to}`;
    case 'renameColumn':
      return `rename_${step.table}_${step.from}_to_${step.to}`;
    case 'renameValue':
      return `rename_${step.table}_${step.column}_${step.from}`;
    case 'addForeignKey':
    case 'dropForeignKey':
      return `change_${step.table}_${step.key.columns.join('_')}`;
    case 'createIndex':
      return `index_${step.table}`;
    case 'dropIndex':
      return `drop_index_${step.index.name}`;
    case 'alterTable':
      return describeChange(step.table, step.changes);
  }
}

function describeChange(
  table: string,
  changes: Extract<Step, { kind: 'alterTable' }>['changes'],
): string {
  const [first] = changes;
  if (!first) return `change_${table}`;
  return first.kind === 'alter'
    ? `change_${table}_${first.after.name}`
    : `${first.kind}_${table}_${first.column.name}`;
}

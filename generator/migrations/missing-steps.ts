import { readProjectOf } from '../read-project.ts';
import { planMigration } from './plan.ts';

/**
 * Tables and columns of the schema that no migration makes; none when the schema itself cannot be
 * read.
 */
export async function missingSteps(root: string): Promise<readonly string[]> {
  const { project, sources } = await readProjectOf(root);
  if (!project) return [];
  const { missing, findings } = planMigration(project, sources, {});
  return [
    ...missing,
    ...findings.filter(({ severity }) => severity === 'error').map(({ summary }) => summary),
  ];
}

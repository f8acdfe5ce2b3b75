import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core';
import type { Pack } from '../read-pack.ts';

/**
 * Problems that are-the-types-wrong finds. The packages are ES modules for Node 24, so problems of
 * resolvers without `exports` (`node10`) and of `require` in TypeScript before 5.8 (`node16-cjs`)
 * do not count.
 */
export async function findInTypes({ bytes, manifest }: Pack): Promise<string[]> {
  const exported = Object.entries((manifest['exports'] ?? {}) as Record<string, unknown>);
  // A text file in `exports`, such as the directives' SDL, is not a module.
  const excludeEntrypoints = exported.flatMap(([name, to]) => (typeof to === 'string' ? name : []));
  if (exported.length === 0) return []; // A program, which exports nothing.
  const pack = createPackageFromTarballData(Uint8Array.from(bytes));
  const result = await checkPackage(pack, { excludeEntrypoints });
  if (!result.types) return [`${manifest.name} has no types`];
  return result.problems
    .filter(isRelevant)
    .map((problem) => `${manifest.name}, are-the-types-wrong: ${JSON.stringify(problem)}`);
}

function isRelevant(problem: Problem): boolean {
  if ('resolutionKind' in problem)
    return problem.resolutionKind !== 'node10' && problem.resolutionKind !== 'node16-cjs';
  return 'resolutionOption' in problem ? problem.resolutionOption !== 'node10' : true;
}

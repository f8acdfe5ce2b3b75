import { createMemory, type Loader, type Project } from '@twofold/schema';
import { code, file, runtime, type, HEADER, type Code } from '../code.ts';
import { literal, propertyName, str } from '../literal.ts';
import { sorted } from './model.ts';
import { viaWords } from './resolvers.ts';
import { JOB_NAMES, typeNamesOf, type TypeNames } from './type-names.ts';

/** `src/generated/loaders.ts`: how rows are fetched in batches. */
export function renderLoaders(project: Project, hasJobs = false): string {
  const names = typeNamesOf(project.sdl, hasJobs ? JOB_NAMES : []);
  return file(
    HEADER,
    code`
      /** Loaders that fetch rows in batches: \`ctx.loaders.user.load(id)\`. They are created for every request. */
      export const loaders = {
        ${sorted(project.loaders, ({ name }) => name).map((loader) => printed(loader, [names], () => code`${propertyName(loader.name)}: ${renderLoader(loader, names)},`))}
      };
    `,
  );
}

const printed = createMemory<Loader, Code>();

function renderLoader({ entity, by, many, via }: Loader, names: TypeNames): Code {
  const row = type(`${names(entity)}Row`);
  const through = via && code`, ${literal(viaWords({ kind: 'table', ...via }))}`;
  return code`${runtime(many ? 'loadMany' : 'loadOne')}<${row}>(${str(entity)}, ${str(by)}${through})`;
}

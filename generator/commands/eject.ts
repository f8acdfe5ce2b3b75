import { nearest } from '@twofold/schema';
import { join, resolve } from 'node:path';
import { code, file, type as typeOf } from '../../templates/code.ts';
import type { CommandCall } from '../cli/command.ts';
import { type Ejected, ejectedField } from '../edit/ejected.ts';
import { ejectableNames, ejectedSdl, withDefinition } from '../edit/ejected-sdl.ts';
import { insertMember, memberNames } from '../edit/insert-member.ts';
import { explainAll } from '../explain/facts.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { run as runPipeline } from '../pipeline.ts';
import { readProjectOf } from '../read-project.ts';
import { JOB_NAMES, typeNamesOf } from '../../templates/owned/type-names.ts';
import { userPartsOf } from '../user-files.ts';
import { commit } from '../write/commit.ts';
import { disk } from '../write/disk.ts';
import { withRunLock } from '../write/run-lock.ts';
import { reportBrokenInputs } from './outcome.ts';

/**
 * `generator eject NAME`: moves a definition that `api.crud` wrote into the user's schema, or writes
 * the inferred behaviour of a field into the user's file, as a starting point.
 */
export async function run(call: CommandCall): Promise<ExitCode> {
  const [coordinate = ''] = call.positionals;
  if (!/^\w+(?:\.\w+)?$/.test(coordinate))
    throw new CommandError('COORDINATE_MISSING', {
      message: 'eject needs a field, or a definition that api.crud wrote',
      fix: 'npm run generator -- eject Query.users',
    });
  const root = resolve(call.cwd);
  const reading = await readProjectOf(root);
  const { project } = reading;
  if (!project) return reportBrokenInputs(reading, call);
  const written = project.crudSdl === undefined ? null : ejectedSdl(project.crudSdl, coordinate);
  if (written !== null) return ejectDefinition(root, { name: coordinate, text: written }, call);
  if (!coordinate.includes('.')) throw notWritten(coordinate, project.crudSdl);
  const ejected = ejectedField(coordinate, project);
  if (ejected === 'nothing')
    throw unknown(
      coordinate,
      explainAll(project).map((each) => each.coordinate),
    );
  if (ejected === 'events')
    throw new CommandError('NOT_EJECTABLE', {
      message: `the events of ${coordinate} are changes of rows`,
      fix: 'a function of your own is { subscribe: async function* () { … } }: runtime/core/graphql/docs/own-code.md',
    });
  const [type = '', field = ''] = coordinate.split('.');
  const path = `src/resolvers/${type}.ts`;
  const before = await disk.read(join(root, path));
  const jobNames = userPartsOf(reading.sources.userFiles).jobs.length > 0 ? JOB_NAMES : [];
  const after =
    before === null
      ? newFile(typeNamesOf(project.sdl, jobNames)(type), ejected)
      : await added(before, { path, field, ejected });
  await withRunLock(root, () =>
    commit(
      root,
      [{ path, owner: 'user', kind: before === null ? 'create' : 'update', before, after }],
      disk,
    ),
  );
  await runPipeline(root, {}, disk);
  if (call.terminal.json) call.terminal.document({ ok: true, path, coordinate });
  else call.terminal.note(`  ${before === null ? 'new' : 'added'}  ${coordinate} in ${path}`);
  return EXIT.done;
}

const SCHEMA = 'schema.graphql';

/** Moves SDL to the end of the schema; the next run does not write it again. */
async function ejectDefinition(
  root: string,
  { name, text }: { readonly name: string; readonly text: string },
  call: CommandCall,
): Promise<ExitCode> {
  const before = await disk.read(join(root, SCHEMA));
  const kind = before === null ? 'create' : 'update';
  const after = withDefinition(before ?? '', text);
  await withRunLock(root, () =>
    commit(root, [{ path: SCHEMA, owner: 'user', kind, before, after }], disk),
  );
  await runPipeline(root, {}, disk);
  if (call.terminal.json) call.terminal.document({ ok: true, path: SCHEMA, name });
  else call.terminal.note(`  moved  ${name} to the end of ${SCHEMA}`);
  return EXIT.done;
}

function notWritten(name: string, crudSdl: string | undefined): CommandError {
  const near = crudSdl === undefined ? undefined : nearest(name, ejectableNames(crudSdl));
  return new CommandError('UNKNOWN_COORDINATE', {
    message: `src/generated/crud.graphql has no ${name}`,
    fix: near
      ? `did you mean ${near}?`
      : 'definitions that are there can be moved to schema.graphql; fields are named Query.users',
  });
}

function newFile(typeName: string, { member }: Ejected): string {
  return file(
    '',
    code`
      export const resolvers = {
        ${member},
      } satisfies ${typeOf(`${typeName}Overrides`, '../generated/types.ts')};
    `,
  );
}

/** @throws CommandError with the lines to paste when they cannot be added to the file safely. */
async function added(
  before: string,
  { path, field, ejected }: { path: string; field: string; ejected: Ejected },
): Promise<string> {
  if ((await memberNames(before))?.includes(field))
    throw new CommandError('ALREADY_YOURS', { message: `${path} answers ${field} already` });
  const result = await insertMember(before, ejected.member.text, {
    from: '@twofold/runtime',
    names: ejected.imports,
  });
  if ('text' in result) return result.text;
  const needed =
    ejected.imports.length > 0
      ? `import { ${ejected.imports.join(', ')} } from '@twofold/runtime';\n`
      : '';
  throw new CommandError('NOT_INSERTED', {
    message: `${path} was left alone: ${result.refused}`,
    fix: `put this into its resolvers:\n\n${needed}${ejected.member.text},\n`,
  });
}

function unknown(coordinate: string, known: readonly string[]): CommandError {
  const near = nearest(coordinate, known);
  return new CommandError('UNKNOWN_COORDINATE', {
    message: `the schema has no field ${coordinate}`,
    fix: near ? `did you mean ${near}?` : 'generator explain lists every field',
  });
}

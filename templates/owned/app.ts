import type { Project } from '@twofold/schema';
import { templatesOf } from '../capabilities.ts';
import { code, file, join, local, runtime, HEADER, type Code } from '../code.ts';
import { camelCase, propertyName, str } from '../literal.ts';
import { settingsMember } from '../settings.ts';
import { hasTools } from './tools.ts';

/** The user's optional files that an app imports, by their exports. */
export interface UserParts {
  readonly resolverTypes: readonly string[];
  readonly scalars: boolean;
  /** Names of the files in `src/hooks/`, without `.ts`. */
  readonly hooks: readonly string[];
  readonly routes: boolean;
  readonly middleware: boolean;
  readonly credentials: boolean;
  /** Names of the files in `src/jobs/`, without `.ts`. */
  readonly jobs: readonly string[];
  /** Names of the files in `src/plugins/`, without `.ts`. */
  readonly plugins: readonly string[];
  /** The paths of all files of the user, for capabilities that import some of them. */
  readonly files: ReadonlySet<string>;
}

/** `src/generated/app.ts`: combines the generated parts and the user's. */
export function renderApp(project: Project, user: UserParts, version: string): string {
  const capabilities = templatesOf(project);
  const settings = capabilities.flatMap((each) => settingsMember(each, project) ?? []);
  const calls = capabilities.map((each) => each.call(user.files, project));
  return file(
    HEADER,
    code`
      const project = ${runtime('defineProject')}({
        ${local('./schema.graphql.ts', 'sdl')},
        ${local('./model.ts', 'model')},
        ${local('./resolvers.ts', 'fields')},
        ${local('./loaders.ts', 'loaders')},
        ${settings.map((each) => code`${each},`)}
      });

      /** The model, the resolvers and the settings of the server. */
      export const app = ${runtime('defineApp')}({
        project,
        generatedBy: ${str(version)},
        ${user.resolverTypes.length > 0 && code`${local('./resolvers.ts', 'resolvers')},`}
        ${user.scalars && code`${local('../scalars.ts', 'scalars')},`}
        ${calls.length > 0 && listOf(calls)}
        ${user.plugins.length > 0 && code`plugins: [${join(user.plugins.map(importPlugin), ', ')}],`}
        ${user.hooks.length > 0 && code`entityHooks: { ${join(user.hooks.map(importHooks), ', ')} },`}
        ${user.jobs.length > 0 && code`jobs: { ${join(user.jobs.map(importJob), ', ')} },`}
        ${user.routes && code`${local('../routes.ts', 'routes')},`}
        ${user.credentials && code`${local('../credentials.ts', 'credentials')},`}
        ${hasTools(project) && code`${local('./tools.ts', 'tools')},`}
        ${user.middleware && code`${local('../middleware.ts', 'middleware')},`}
        migrations: new URL('../../migrations/', import.meta.url),
        root: new URL('../../', import.meta.url),
      });
    `,
  );
}

const WIDTH = 80;

/** On one line while that is short. */
function listOf(calls: readonly Code[]): Code {
  const line = code`capabilities: [${join(calls, ', ')}],`;
  if (line.text.length <= WIDTH) return line;
  return code`
    capabilities: [
      ${calls.map((each) => code`${each},`)}
    ],
  `;
}

const importHooks = (entity: string) => code`${propertyName(entity)}: ${hooksOf(entity)}`;

/** Only the imported name, because the shorthand `{ name }` would be taken for a property. */
const hooksOf = (entity: string) => ({
  ...local(`../hooks/${entity}.ts`, 'hooks', `hooksOf${entity}`),
  text: `hooksOf${entity}`,
});

const importJob = (name: string) => code`${propertyName(name)}: ${jobOf(name)}`;

/** The default export of a job's file: `mail-receipt` → `mailReceiptJob`. */
const jobOf = (name: string) =>
  local(`../jobs/${name}.ts`, 'default', `${camelCase(name, 'job')}Job`);

const importPlugin = (name: string) => local(`../plugins/${name}.ts`, 'default', pluginName(name));

/** `rate-limit` → `rateLimitPlugin`. */
const pluginName = (file: string) => `${camelCase(file, 'plugin')}Plugin`;

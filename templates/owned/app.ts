import type { Project } from '@twofold/schema';
import { code, file, local, runtime } from '../code.ts';
import { HEADER } from './header.ts';

/** The user's optional files that an app takes in, by what they export. */
export interface UserParts {
  readonly resolverTypes: readonly string[];
  readonly extend: boolean;
  readonly listeners: boolean;
  readonly authHooks: boolean;
  readonly scalars: boolean;
  readonly routes: boolean;
  /** Names of the files in `src/plugins/`, without `.ts`. */
  readonly plugins: readonly string[];
}

/** `src/generated/app.ts`: joins the generated parts and the user's. */
export function renderApp(project: Project, user: UserParts): string {
  return file(
    HEADER,
    code`
      const project = ${runtime('defineProject')}({
        ${local('./schema.graphql.ts', 'sdl')},
        ${local('./model.ts', 'model')},
        ${local('./resolvers.ts', 'answers')},
        ${local('./loaders.ts', 'loaders')},
        ${project.auth && code`${local('./auth.ts', 'auth')},`}
        ${project.hosting && code`${local('./hosting.ts', 'hosting')},`}
      });

      /** Everything that the server is made of. */
      export const app = ${runtime('defineApp')}({
        project,
        ${user.resolverTypes.length > 0 && code`${local('./resolvers.ts', 'resolvers')},`}
        ${user.scalars && code`${local('../scalars.ts', 'scalars')},`}
        ${user.extend && code`${local('../extend.ts', 'extend')},`}
        ${user.authHooks && code`${local('../auth-hooks.ts', 'authHooks')},`}
        ${user.listeners && code`${local('../auth-events.ts', 'listeners')},`}
        ${user.plugins.length > 0 && code`plugins: [${user.plugins.map((name) => local(`../plugins/${name}.ts`, 'default', pluginName(name))).reduce((a, b) => code`${a}, ${b}`)}],`}
        ${user.routes && code`${local('../routes.ts', 'routes')},`}
        migrations: new URL('../../migrations/', import.meta.url),
        root: new URL('../../', import.meta.url),
      });
    `,
  );
}

/** `rate-limit` → `rateLimitPlugin`. */
function pluginName(file: string): string {
  const words = file.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const camel = words
    .map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');
  return `${/^[A-Za-z]/.test(camel) ? camel : `plugin${camel}`}Plugin`;
}

/** A group of pages: where their sources are, and where the site has them. */
export interface Section {
  /** Sections with the same title are one group. */
  readonly title: string;
  /** The folder of the pages, relative to the repository. */
  readonly folder: string;
  /** The first part of their addresses; empty for the root of the site. */
  readonly path: string;
  /** Names of pages that come first, in this order. The others follow by title. */
  readonly first?: readonly string[];
}

/** Pages that are made from code: there is no folder of them. */
export const REFERENCE: Section = {
  title: 'Reference',
  folder: 'site/pages/reference',
  path: 'reference',
};

/**
 * Every group, in the order of the navigation. A page that is added to one of these folders is on
 * the site without any other change.
 */
export const SECTIONS: readonly Section[] = [
  {
    title: 'The first hour',
    folder: 'site/pages/start',
    path: 'start',
    first: ['from-nothing', 'your-own-rules', 'deployed'],
  },
  { title: 'How to', folder: 'site/pages/how-to', path: 'how-to', first: ['index'] },
  {
    title: 'The two files',
    folder: 'schema/docs',
    path: 'files',
    first: ['inference', 'operations', 'directives', 'manifest'],
  },
  {
    title: 'GraphQL',
    folder: 'runtime/core/graphql/docs',
    path: 'graphql',
    first: ['queries', 'mutations', 'subscriptions', 'access'],
  },
  { title: 'GraphQL', folder: 'runtime/core/data-api/docs', path: 'data' },
  { title: 'The server', folder: 'runtime/core/rest/docs', path: 'rest' },
  { title: 'The server', folder: 'runtime/core/routes/docs', path: 'routes' },
  { title: 'The server', folder: 'runtime/core/jobs/docs', path: 'jobs' },
  { title: 'The server', folder: 'runtime/core/mcp/docs', path: 'mcp' },
  { title: 'The server', folder: 'runtime/core/metrics/docs', path: 'metrics' },
  { title: 'The server', folder: 'runtime/core/traces/docs', path: 'traces' },
  {
    title: 'Signing in',
    folder: 'runtime/auth/docs',
    path: 'auth',
    first: ['sign-in', 'settings', 'passwords', 'providers', 'second-factor', 'passkeys'],
  },
  {
    title: 'Hosting',
    folder: 'runtime/hosting/docs',
    path: 'hosting',
    first: ['apps'],
  },
  { title: 'Hosting', folder: 'runtime/models/docs', path: 'models' },
  { title: 'Console', folder: 'runtime/console/docs', path: 'console' },
  {
    title: 'Commands',
    folder: 'generator/docs',
    path: 'commands',
    first: ['commands', 'regeneration', 'migrations'],
  },
  REFERENCE,
  { title: 'About', folder: 'site/pages/about', path: 'about', first: ['concepts'] },
  { title: '', folder: 'site/pages', path: '' },
];

import type { Kernel } from '@twofold/runtime/kernel';
import { adminDataOf, type Project } from '@twofold/schema';

/** A page of the console, and who has it. */
export interface ConsolePage {
  readonly id: string;
  readonly title: string;
  /** The path below that of the console. */
  readonly at: string;
  /**
   * The permission that a caller needs to see the page in the list; null when everybody sees it.
   */
  readonly needs: string | null;
  isThere(project: Project, kernel: Pick<Kernel, 'jobs' | 'settings'>): boolean;
}

const always = () => true;
const hosted = ({ hosting }: Project) => hosting !== null;
const withUsers = ({ auth }: Project) => auth !== null;

/** Whether rows can be read: by REST, or by `/api/data` in this environment. */
const hasRows: ConsolePage['isThere'] = (project, { settings: { production } }) => {
  const when = adminDataOf(project);
  return project.api.rest || when === 'always' || (when === 'development' && !production);
};

const page = (
  id: string,
  title: string,
  needs: ConsolePage['needs'],
  isThere: ConsolePage['isThere'] = always,
): ConsolePage => ({ id, title, at: id === 'overview' ? '' : `/${id}`, needs, isThere });

/** Every page, in the order of the navigation. */
export const PAGES: readonly ConsolePage[] = [
  page('overview', 'Overview', 'system:read'),
  page('data', 'Data', null, hasRows),
  page('graphql', 'GraphQL', null),
  page('users', 'Users', 'auth:read', withUsers),
  page('apps', 'Apps', 'apps:read', hosted),
  page('models', 'Models', 'models:read', hosted),
  page('logs', 'Logs', 'system:read'),
  page('jobs', 'Jobs', 'jobs:read', (_, { jobs = false }) => jobs),
  page('webhooks', 'Webhooks', 'auth:read', withUsers),
  page('schema', 'Schema', 'system:read'),
  page('audit', 'Audit', 'system:read'),
  page('settings', 'Settings', 'system:read'),
];

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

/** Whether `/api/data` answers, in this environment. */
function hasAdminData(project: Project, { production }: Kernel['settings']): boolean {
  const when = adminDataOf(project);
  return when === 'always' || (when === 'development' && !production);
}

/** Every page, in the order of the navigation. */
export const PAGES: readonly ConsolePage[] = [
  { id: 'overview', title: 'Overview', at: '', needs: 'system:read', isThere: always },
  {
    id: 'data',
    title: 'Data',
    at: '/data',
    needs: null,
    isThere: (project, { settings }) => project.api.rest || hasAdminData(project, settings),
  },
  { id: 'graphql', title: 'GraphQL', at: '/graphql', needs: null, isThere: always },
  {
    id: 'users',
    title: 'Users',
    at: '/users',
    needs: 'auth:read',
    isThere: ({ auth }) => auth !== null,
  },
  { id: 'apps', title: 'Apps', at: '/apps', needs: 'apps:read', isThere: hosted },
  { id: 'models', title: 'Models', at: '/models', needs: 'models:read', isThere: hosted },
  { id: 'logs', title: 'Logs', at: '/logs', needs: 'system:read', isThere: always },
  {
    id: 'jobs',
    title: 'Jobs',
    at: '/jobs',
    needs: 'jobs:read',
    isThere: (_, { jobs = false }) => jobs,
  },
  {
    id: 'webhooks',
    title: 'Webhooks',
    at: '/webhooks',
    needs: 'auth:read',
    isThere: ({ auth }) => auth !== null,
  },
  { id: 'schema', title: 'Schema', at: '/schema', needs: 'system:read', isThere: always },
  { id: 'audit', title: 'Audit', at: '/audit', needs: 'system:read', isThere: always },
  { id: 'settings', title: 'Settings', at: '/settings', needs: 'system:read', isThere: always },
];

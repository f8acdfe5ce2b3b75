import type { PageProps } from '../parts/lazy-page.tsx';
import { AppPage } from './apps/app.tsx';
import { AppList } from './apps/list.tsx';

/** The hosted apps, or one of them. */
export function AppsPage({ rest: [name] }: PageProps) {
  return name === undefined || name === '' ? <AppList /> : <AppPage key={name} name={name} />;
}

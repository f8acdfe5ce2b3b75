import { base, path } from '../address.ts';
import { t } from '../messages.ts';
import type { Description } from '../description.ts';
import { PageIcon } from './icons.tsx';

type Entry = Description['pages'][number];

/** Pages that belong together, by their ids, in the order that the server lists them in. */
const GROUPS = [
  [null, ['overview']],
  ['Content', ['data', 'graphql', 'users']],
  ['Hosting', ['apps', 'models']],
  ['Activity', ['logs', 'jobs', 'webhooks']],
  ['Project', ['schema', 'audit', 'settings']],
] as const;

const KNOWN = new Set<string>(GROUPS.flatMap(([, ids]) => ids));

/** The navigation `Main`: one link a page, in groups; pages of one's own come last. */
export function Navigation({ known, open }: { known: Description; open: boolean }) {
  const own = known.pages.filter(({ id }) => !KNOWN.has(id));
  return (
    <nav id="navigation" class={open ? 'side open' : 'side'} aria-label={t('Main')}>
      {GROUPS.map(([title, ids]) => (
        <Group
          key={title}
          title={title}
          pages={known.pages.filter(({ id }) => (ids as readonly string[]).includes(id))}
        />
      ))}
      <Group title="Your pages" pages={own} />
    </nav>
  );
}

function Group({ title, pages }: { title: string | null; pages: readonly Entry[] }) {
  if (pages.length === 0) return null;
  return (
    <div class="side-group">
      {title !== null && (
        <p class="side-title" aria-hidden="true">
          {t(title)}
        </p>
      )}
      <ul aria-label={title === null ? undefined : t(title)}>
        {pages.map((page) => (
          <li key={page.id}>
            <a href={page.path} aria-current={isCurrent(page.path) ? 'page' : undefined}>
              <PageIcon id={page.id} />
              <span>{t(page.title)}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function isCurrent(to: string): boolean {
  const at = `${base}${path.value}`.replace(/\/$/, '');
  return at === to || (to !== base && at.startsWith(`${to}/`));
}

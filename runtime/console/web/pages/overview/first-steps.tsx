import { useState } from 'preact/hooks';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { PageIcon } from '../../parts/page-icons.tsx';
import { Panel } from '../../parts/page.tsx';
import { type Description, description } from '../../description.ts';

/** Short texts about what each page is for, on a new server. */
const STEPS: Readonly<Record<string, readonly [title: string, text: string]>> = {
  data: ['Add rows', 'See what is in each table, and change it.'],
  graphql: ['Try a query', 'Write one with completion, and see its plan in the database.'],
  users: ['Manage users', 'Roles, sessions, API keys, and what happened.'],
  apps: ['Deploy an app', 'From an image, a repository or an archive.'],
  models: ['Run a model', 'Download one and ask it something.'],
  logs: ['Read the log', 'Live, searchable, of all workers.'],
  schema: ['Look at the schema', 'Types, their relations, and migrations.'],
};

const KEY = 'console-first-steps';

/** Links to the next steps. They are shown in development until the user hides them. */
export function FirstSteps() {
  const [hidden, setHidden] = useState(localStorage.getItem(KEY) === 'hidden');
  const known = description.value;
  const pages = known?.pages.filter(({ id }) => Object.hasOwn(STEPS, id)) ?? [];
  if (hidden || known?.environment !== 'development' || pages.length === 0) return null;
  const hide = () => {
    localStorage.setItem(KEY, 'hidden');
    setHidden(true);
  };
  return (
    <Panel
      name={t('Next steps')}
      tools={
        <Button class="plain" onClick={hide}>
          {t('Hide')}
        </Button>
      }
    >
      <ul class="first-steps">
        {pages.map(({ id, path }) => (
          <li key={id}>
            <a href={path}>
              <PageIcon id={id} />
              <b>{t(STEPS[id]![0])}</b>
              <span class="quiet">{t(STEPS[id]![1])}</span>
            </a>
          </li>
        ))}
        {canHost(known) && <HostingStep />}
      </ul>
    </Panel>
  );
}

/**
 * A server that hosts no apps yet can do so after one line, which only the caller with every
 * permission is told.
 */
const canHost = ({ pages, caller }: Description) =>
  caller?.permissions.includes('*') === true && !pages.some(({ id }) => id === 'apps');

const HostingStep = () => (
  <li class="first-step">
    <PageIcon id="apps" />
    <b>{t('Host apps')}</b>
    <span class="quiet">{t('Add to manifest.yaml, then npm run dev:')}</span>
    <code>hosting: {'{}'}</code>
  </li>
);

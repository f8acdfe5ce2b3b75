import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../messages.ts';
import { lost, returns } from './connection.ts';
import { Failure, Loading } from './page.tsx';

/** The props of a page: the parts of the path after its own. */
export interface PageProps {
  readonly rest: readonly string[];
}

/** Loads the file of a page. */
export type LoadPage = () => Promise<ComponentType<PageProps>>;

/** A page whose file is loaded first. */
export function LazyPage({ load, rest }: PageProps & { readonly load: LoadPage }) {
  const [page, setPage] = useState<{ readonly Page: ComponentType<PageProps> } | null>(null);
  const [failed, setFailed] = useState(false);
  const open = () => {
    setFailed(false);
    load().then(
      (Page) => setPage({ Page }),
      () => (lost(), setFailed(true)),
    );
  };
  useEffect(open, [returns.value]);
  if (failed) return <Failure error={t('This page did not load: reload it')} again={open} />;
  return page ? <page.Page rest={rest} /> : <Loading />;
}

import { useEffect } from 'preact/hooks';
import { description } from '../session.ts';

/** Sets the title of the document for a page: `Data · shop`. */
export function useTitle(page: string): void {
  const name = description.value?.name ?? 'Console';
  useEffect(() => {
    document.title = `${page} · ${name}`;
  }, [page, name]);
}

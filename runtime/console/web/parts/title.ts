import { useEffect } from 'preact/hooks';
import { description } from '../session.ts';

/** Names the page in the title of the document: `Data · shop`. */
export function useTitle(page: string): void {
  const name = description.value?.name ?? 'Console';
  useEffect(() => {
    document.title = `${page} · ${name}`;
  }, [page, name]);
}

import { useEffect } from 'preact/hooks';
import { description } from '../description.ts';

/** The title that the document came with. */
const ALONE = document.title;

/** Sets the title of the document for a page: `Data · shop`. */
export function useTitle(page: string): void {
  const name = description.value?.name ?? ALONE;
  useEffect(() => {
    document.title = `${page} · ${name}`;
  }, [page, name]);
}

import { base } from '../../address.ts';

/** A user by the id; a dash for nobody. */
export function UserLink({ id }: { id: string | number | null | undefined }) {
  if (id === null || id === undefined) return <>–</>;
  return <a href={`${base}/users/${encodeURIComponent(id)}`}>{id}</a>;
}

import { base } from '../../address.ts';

/** A link to a user by the id; a dash without one. */
export function UserLink({ id }: { id: string | number | null | undefined }) {
  if (id === null || id === undefined) return <>–</>;
  return <a href={`${base}/users/${encodeURIComponent(id)}`}>{id}</a>;
}

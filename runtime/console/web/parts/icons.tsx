import type { ComponentChildren } from 'preact';

/** A drawing of 16 by 16 pixels in the colour of the text, hidden from screen readers. */
export function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg class="icon-drawing" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {children}
    </svg>
  );
}

const drawing = (path: string) => () => (
  <Icon>
    <path d={path} />
  </Icon>
);

export const CloseIcon = drawing('M4 4l8 8M12 4l-8 8');
export const SearchIcon = drawing('M10.5 10.5L14 14M2.5 7a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0');
export const MenuIcon = drawing('M2.5 4.5h11M2.5 8h11M2.5 11.5h11');
export const ChevronIcon = drawing('M4.5 6.5L8 10l3.5-3.5');
export const AlertIcon = drawing('M8 2L14.5 13.5H1.5zM8 6.5v3.2M8 11.5v.3');

// Whether files are on their way in, so that what takes them is loaded; and where they are dropped.

class Catching {
  /** What takes files is here, or on its way. */
  wanted = $state(false);
  /** Files hang over the page. */
  dropping = $state(false);
}

export const catching = new Catching();

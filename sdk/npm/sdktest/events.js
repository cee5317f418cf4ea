// Events for the fakes of the browser's objects.

// Target is an EventTarget whose listeners may also be set as onNAME, as those of the browser's objects may.
export class Target extends EventTarget {
  emit(type, fields = {}) {
    const event = Object.assign(new Event(type), fields);
    this[`on${type}`]?.(event);
    this.dispatchEvent(event);
  }
}

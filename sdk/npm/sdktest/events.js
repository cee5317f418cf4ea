// Target is an EventTarget whose listeners may also be set as onNAME, as those of a browser may.
export class Target extends EventTarget {
  emit(type, fields = {}) {
    const event = Object.assign(new Event(type), fields);
    this[`on${type}`]?.(event);
    this.dispatchEvent(event);
  }
}
